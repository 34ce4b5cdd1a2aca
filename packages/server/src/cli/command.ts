import { type ConnectionFlags, resolveConnection } from '../config/connection.ts';
import { ApiClient, type ApiRequest, Proposed, type Wish } from './api-client.ts';
import { usageError } from './cli-error.ts';
import type { Fields } from './fields.ts';
import { CONNECTION, type OptionSpecs, toggle, type ValuesOf, type WishOptions } from './options.ts';
import { type ListLayout, printAnswer, printDone, printList, printSecret } from './output.ts';
import { reportProposal } from './proposed.ts';
import type { Shell } from './shell.ts';

/** A command as data: what `--help` says about it, and what runs it. */
export interface CliCommand {
  /** Its name and arguments: `set <key>`, `copy [keys...]`. */
  readonly usage: string;
  readonly about: string;
  /** What the arguments are, by name. */
  readonly argumentHelp?: Readonly<Record<string, string>>;
  readonly options: OptionSpecs;
  /** What stands below the options: a paragraph, command lines to copy, another paragraph. */
  readonly help?: string;
  readonly examples?: readonly string[];
  readonly closing?: string;
  /** Commands below one that also runs by itself. */
  readonly commands?: readonly CliCommand[];
  /** Whether help does not list it, and any options are accepted. */
  readonly isRedirect?: boolean;
  /** `input` holds the arguments and options by name. */
  run(input: Readonly<Record<string, unknown>>, shell: Shell): Promise<void> | void;
}

/** A command, or a group of them, without its code. */
export interface CommandEntry {
  readonly summary: string;
  /** What its own help says, if that is not the summary. */
  readonly about?: string;
  /** Loads the code of the command. Only the one that runs is loaded, to keep the start fast. */
  readonly load: () => Promise<CliCommand | readonly CliCommand[]>;
  /** Whether only the program itself runs it; help does not list it. */
  readonly isInternal?: boolean;
}

/** All commands by name. */
export type Catalog = Readonly<Record<string, CommandEntry>>;

/** What a command line gives: arguments by their names in `usage`, options by their names in `options`. */
export type Input<Usage extends string, Options extends OptionSpecs> = ArgumentsOf<Usage> & ValuesOf<Options>;

type ArgumentsOf<Usage extends string> = Usage extends `${infer Word} ${infer Rest}`
  ? ArgumentOf<Word> & ArgumentsOf<Rest>
  : ArgumentOf<Usage>;

type ArgumentOf<Word extends string> = Word extends `<${infer Name}>`
  ? { readonly [Each in Name]: string }
  : Word extends `[${infer Name}...]`
    ? { readonly [Each in Name]: readonly string[] }
    : Word extends `[${infer Name}]`
      ? { readonly [Each in Name]?: string }
      : unknown;

type ClientInput<Usage extends string, Options extends OptionSpecs> = Input<
  Usage,
  Options & typeof CONNECTION
>;

interface Description<Usage extends string, Options extends OptionSpecs>
  extends Omit<CliCommand, 'usage' | 'options' | 'run'> {
  readonly usage: Usage;
  readonly options?: Options;
}

/** A command that does more than one request, or shows the answer in its own way. */
interface Running<In> {
  readonly run: (input: In, shell: Shell) => Promise<void> | void;
}

/** A command that is one request. */
interface Requesting<In> {
  readonly request: (input: In, shell: Shell) => ApiRequest;
  /** Makes the command require `--yes`, about which help says `about`, if something is lost. */
  readonly confirm?: {
    readonly about: string;
    /** What will be lost; `undefined` if nothing. */
    readonly loses: (input: In) => string | undefined;
  };
}

/** How the answer to the request is shown: one of these. */
type Showing<In> =
  /** As JSON, or on a terminal as this text. */
  | { readonly answer: (fields: Fields, input: In) => string }
  /** As JSON if it has a body, or on a terminal as this sentence. */
  | { readonly done: (input: In) => string }
  /** As one of its members, which is shown only once, and a sentence on standard error. */
  | {
      readonly secret: {
        readonly member: string;
        readonly sentence: (fields: Fields, input: In) => string;
      };
    }
  /** As a list; page by page, if the server has pages of it. */
  | {
      readonly list: Omit<ListLayout, 'empty'> & {
        readonly empty: (input: In) => string;
        readonly isPaged?: boolean;
      };
    };

/** Declares a command that talks to a server; it has the options of {@link CONNECTION}, at the end unless it names them. */
export function command<const Usage extends string, Options extends OptionSpecs = Record<never, never>>(
  spec: Description<Usage, Options> &
    (
      | Running<ClientInput<Usage, Options>>
      | (Requesting<ClientInput<Usage, Options>> & Showing<ClientInput<Usage, Options>>)
    ),
): CliCommand {
  const yes = 'confirm' in spec && spec.confirm !== undefined ? { yes: toggle(spec.confirm.about) } : {};
  return localCommand({
    ...spec,
    // A name keeps its first place.
    options: { ...spec.options, ...yes, ...CONNECTION },
    run: async (input, shell) => {
      // `localCommand` has the options of both.
      const all = input as ClientInput<Usage, Options> & WishOptions & { readonly yes?: boolean };
      try {
        await ('run' in spec ? spec.run(all, shell) : send(spec, all, shell));
      } catch (error) {
        if (!(error instanceof Proposed)) throw error;
        await reportProposal(shell, all, { client: connect(shell, all), answer: error.answer });
      }
    },
  });
}

/** Declares a command that needs no server. */
export function localCommand<const Usage extends string, Options extends OptionSpecs = Record<never, never>>(
  spec: Description<Usage, Options> & Running<Input<Usage, Options>>,
): CliCommand {
  return {
    ...spec,
    options: spec.options ?? {},
    // The command line has been read by `usage` and `options`, from which the type is made.
    run: (input, shell) => spec.run(input as Input<Usage, Options>, shell),
  };
}

/** Stands for a command that people look for here, but that has another name: `sentence` says which. */
export function redirect(name: string, sentence: string): CliCommand {
  return localCommand({
    usage: `${name} [words...]`,
    about: sentence,
    isRedirect: true,
    run: () => {
      throw usageError(sentence);
    },
  });
}

async function send<In extends ConnectionFlags & { readonly json?: boolean; readonly yes?: boolean }>(
  spec: Requesting<In> & Showing<In>,
  input: In,
  shell: Shell,
): Promise<void> {
  const lost = spec.confirm?.loses(input);
  if (lost !== undefined) requireYes(input.yes, lost);

  const request = spec.request(input, shell);
  const client = connect(shell, input);
  if ('list' in spec) {
    const { isPaged, ...layout } = spec.list;
    const pages = isPaged ? client.pages(request) : [await client.request(request)];
    return await printList(shell, input, pages, { ...layout, empty: layout.empty(input) });
  }

  const answer = await client.request(request);
  if ('answer' in spec) return printAnswer(shell, input, answer, (fields) => spec.answer(fields, input));
  if ('done' in spec) return printDone(shell, input, spec.done(input), answer.text);
  const { member, sentence } = spec.secret;
  printSecret(shell, input, answer, { member, sentence: sentence(answer.fields, input) });
}

/** Requires `--yes`. `consequence` says what will be lost. */
export function requireYes(yes: boolean | undefined, consequence: string): void {
  if (yes !== true) throw usageError(`${consequence} Add --yes to confirm.`);
}

/** The client for the server that the options and the environment name. */
export function connect(shell: Shell, options: ConnectionFlags & Wish): ApiClient {
  const warn = (sentence: string) => shell.writeError(`warning: ${sentence}\n`);
  return new ApiClient(resolveConnection(options, shell.env), warn, options);
}
