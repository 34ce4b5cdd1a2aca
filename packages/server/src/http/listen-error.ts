/** Which address could not be listened on. */
export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  /** Whether it is the one that management has of its own. */
  readonly isManagement: boolean;
}

/** An address cannot be listened on. The message says which, and which setting chooses another. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  constructor(place: ListenPlace, cause: unknown) {
    super(describe(place, cause), { cause });
  }
}

function describe({ host, port, isManagement }: ListenPlace, cause: unknown): string {
  const [portFlag, hostFlag] = isManagement
    ? ['--management-port', '--management-host']
    : ['--port', '--host'];
  switch (cause instanceof Error && 'code' in cause ? cause.code : undefined) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken. Stop the program that has it, or choose another with ${portFlag}.`;
    case 'EACCES':
      return `This user may not listen on port ${port} of ${host}: choose one from 1024 on with ${portFlag}.`;
    default:
      // For a name that leads nowhere the system's own words are of another matter, such as "file already exists".
      return `${host} is no address that this machine can listen on: choose another with ${hostFlag}.`;
  }
}
