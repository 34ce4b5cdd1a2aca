import type { Shell } from './shell.ts';

/** The pause after a failed request, which doubles with each further failure, in milliseconds. */
const PAUSE = { first: 1000, longest: 30_000 } as const;

/** Says why a command retries, and waits for a while that grows with the failures before this one. Half of it is random. */
export async function pauseBeforeRetry(reason: string, failures: number, shell: Shell): Promise<void> {
  const pauseMs = Math.min(PAUSE.first * 2 ** failures, PAUSE.longest) * (0.5 + Math.random() / 2);
  shell.writeError(`${reason} Retrying in ${(pauseMs / 1000).toFixed(1)} s.\n`);
  await Bun.sleep(pauseMs);
}
