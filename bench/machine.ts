import { cpus, loadavg, release, totalmem } from 'node:os';

/** Where the figures come from. */
export interface Machine {
  /** One line about hardware and versions. */
  readonly description: string;
  /** Whether there are two cores to tie servers and load to, and the program that does it. */
  readonly canPin: boolean;
  /** Files and sockets one process may have open. */
  readonly fileLimit: number;
  /** Path of the load generator `wrk`; absent where it is not installed. */
  readonly wrk?: string;
  /** Path of `nginx`; absent where it is not installed. */
  readonly nginx?: string;
}

/** Looks the machine over. */
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
  const wrk = Bun.which('wrk');
  const nginx = Bun.which('nginx', { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` });
  return {
    description: facts.join(', '),
    canPin: cores.length >= 2 && Bun.which('taskset') !== null,
    fileLimit: Number((await Bun.$`/bin/sh -c "ulimit -Hn"`.text()).trim()) || Number.POSITIVE_INFINITY,
    ...(wrk === null ? {} : { wrk }),
    ...(nginx === null ? {} : { nginx }),
  };
}

/**
 * The purpose of a process. Readers of streams yield to other load, so that they do not delay its clock. `any` may run
 * on every core, as every process does that was never tied.
 */
export type Role = 'server' | 'load' | 'readers' | 'any';

/**
 * Ties a process to the core for servers or to the one for load, so that neither takes time from the other. Where
 * that is not possible, nothing happens.
 */
export async function pin(machine: Machine, pid: number, role: Role): Promise<void> {
  if (role === 'readers') await Bun.$`renice -n 10 -p ${pid}`.quiet().nothrow();
  if (!machine.canPin) return;
  const cores = role === 'any' ? `0-${cpus().length - 1}` : role === 'server' ? '0' : '1';
  await Bun.$`taskset -a -c -p ${cores} ${pid}`.quiet().nothrow();
}
