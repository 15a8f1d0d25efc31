import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

// One file without outside references: the recording is put in place of a marker by `sim page`.
export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { outDir: 'dist', target: 'es2022', modulePreload: false, reportCompressedSize: false },
  logLevel: 'warn',
});
