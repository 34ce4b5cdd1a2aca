/** How many failures are printed at most. */
const FAILURES = 20;

/** How many lines of one failure are printed at most. */
const LINES = 60;

/** How many lines of all failures together: readers of a long log see its end first. */
const LINES_IN_ALL = 160;

/** A failed test, or an error between tests, with the lines that the runner wrote for it. */
interface Failure {
  readonly name: string;
  readonly file: string;
  readonly lines: readonly string[];
}

/**
 * What the runner wrote for each failure, from the output of `bun test`: it groups lines by file, and writes what happened
 * in a test before the line with its result. At the end it repeats the results without these lines.
 */
export function failuresIn(output: string): readonly Failure[] {
  const failures = new Map<string, Failure>();
  let file = '';
  let lines: string[] = [];
  for (const line of output.split('\n')) {
    const [, header] = /^(\S+\.test\.tsx?):$/.exec(line) ?? [];
    const [, result] = /^\((pass|fail|skip|todo)\) /.exec(line) ?? [];
    const isError = line.startsWith('# Unhandled error between tests');
    if (header === undefined && result === undefined) lines.push(line);
    if (result === 'fail' || isError) {
      const name = isError ? `${line} ${failures.size}` : line;
      // The lines of an error between tests follow: they are added to the same list.
      if (!failures.has(name)) failures.set(name, { name, file, lines });
    }
    if (header !== undefined) file = header;
    if (header !== undefined || result !== undefined) lines = [];
  }
  return [...failures.values()];
}

/** The failures as text, short enough for the end of a log: the last lines of each, which have the error. */
export function formatFailures(failures: readonly Failure[]): string {
  const printed = failures.slice(0, FAILURES);
  const most = Math.min(LINES, Math.max(8, Math.floor(LINES_IN_ALL / printed.length)));
  const texts = printed.map(({ name, file, lines }) => {
    const text = lines.join('\n').trim().split('\n').slice(-most).join('\n');
    return `\n${file}:\n${text}\n${name}\n`;
  });
  const rest = failures.length - printed.length;
  return `${texts.join('')}${rest > 0 ? `\n… and ${rest} more.\n` : ''}`;
}

if (import.meta.main) {
  const [path] = process.argv.slice(2);
  if (path === undefined) throw new Error('name the file with the output of the test runner');
  process.stdout.write(formatFailures(failuresIn(await Bun.file(path).text())));
}
