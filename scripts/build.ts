/** Builds the one executable file: `bun run build` writes `dist/halyard`. */
const outfile = 'dist/halyard';

const result = await Bun.build({
  entrypoints: ['packages/server/src/main.ts'],
  target: 'bun',
  minify: { whitespace: true, syntax: true },
  sourcemap: 'inline',
  compile: { outfile },
});

if (!result.success) throw new AggregateError(result.logs, 'the build failed');
const megabytes = (Bun.file(outfile).size / 1e6).toFixed(0);
process.stdout.write(`${outfile} (${megabytes} MB)\n`);

export {};
