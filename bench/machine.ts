import { cpus, loadavg, release, totalmem } from 'node:os';

/** Where the figures come from. */
export interface Machine {
  /** One line about hardware and versions. */
  readonly description: string;
  /** Whether there are two cores to tie servers and load to, and the program that does it. */
  readonly canPin: boolean;
  /** Files and sockets one process may have open. */
  readonly fileLimit: number;
  /** Paths of a load generator, of a server, and of a compiler of C, where they are installed. */
  readonly wrk: string | undefined;
  readonly nginx: string | undefined;
  readonly cc: string | undefined;
}

/** Finds out what the machine has. */
export async function lookAtMachine(): Promise<Machine> {
  const cores = cpus();
  const load = loadavg()[0] ?? 0;
  const facts = [
    `${cores.length} x ${cores[0]?.model ?? 'unknown processor'}`,
    `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    `${process.platform} ${release()}`,
    `Bun ${Bun.version}`,
    `load ${load.toFixed(2)} before`,
  ];
  const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`;
  return {
    description: facts.join(', '),
    canPin: cores.length >= 2 && Bun.which('taskset') !== null,
    fileLimit: Number((await Bun.$`/bin/sh -c "ulimit -Hn"`.text()).trim()) || Number.POSITIVE_INFINITY,
    wrk: Bun.which('wrk') ?? undefined,
    nginx: Bun.which('nginx', { PATH }) ?? undefined,
    cc: Bun.which('cc') ?? undefined,
  };
}

/**
 * The purpose of a process. Readers of streams yield to other load, so that they do not delay its clock. `any` may run
 * on every core, as every process does that was never tied.
 */
export type Role = 'server' | 'load' | 'readers' | 'any';

/**
 * The command on the core for servers or on the one for load, so that neither takes time from the other. From its start:
 * programs that count their cores then see one.
 */
export function pinned(machine: Machine, role: Role, command: readonly string[]): string[] {
  const polite = role === 'readers' ? ['nice', '-n', '10', ...command] : [...command];
  return machine.canPin && role !== 'any' ? ['taskset', '-c', coresOf(role), ...polite] : polite;
}

/** As {@link pinned}, for a process that runs already. */
export async function pin(machine: Machine, pid: number, role: Role): Promise<void> {
  if (machine.canPin) await Bun.$`taskset -a -c -p ${coresOf(role)} ${pid}`.quiet().nothrow();
}

function coresOf(role: Role): string {
  return role === 'any' ? `0-${cpus().length - 1}` : role === 'server' ? '0' : '1';
}
