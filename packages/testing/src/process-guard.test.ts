import { expect, test } from 'bun:test';
import { guardProcess } from './process-guard.ts';
import { until } from './waiting.ts';

test('a guarded child dies with a parent that is killed', async () => {
  const program = `
    import { guardProcess } from ${JSON.stringify(`${import.meta.dir}/process-guard.ts`)};
    const child = Bun.spawn(['sleep', '600']);
    guardProcess(child.pid);
    process.stdout.write(child.pid + '\\n');
    await Bun.sleep(600_000);
  `;
  const parent = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' });
  const reader = parent.stdout.getReader();
  const childPid = Number(new TextDecoder().decode((await reader.read()).value));
  expect(isAlive(childPid)).toBe(true);
  parent.kill('SIGKILL');
  await parent.exited;
  await until('the child is dead', () => !isAlive(childPid));
});

test('a released child lives on', async () => {
  const child = Bun.spawn(['sleep', '600']);
  const guard = guardProcess(child.pid);
  guard.release();
  guard.release();
  await Bun.sleep(100);
  expect(isAlive(child.pid)).toBe(true);
  child.kill('SIGKILL');
  await child.exited;
});

/** A killed orphan stays in the process table until it is reaped; a zombie is not alive. */
function isAlive(pid: number): boolean {
  const state = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)])
    .stdout.toString()
    .trim();
  return state !== '' && !state.startsWith('Z');
}
