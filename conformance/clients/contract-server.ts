/** The control of the server of broken behaviors: lists scenarios, starts runs, and passes steps on to them. */
import { Run } from './run.ts';
import { ENVIRONMENT, type Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { makeTargets } from './targets.ts';

/** How long an act may take that waits for something. */
const ACT_MS = 30_000;

/** The server that tests of clients talk to. */
export class ContractServer {
  readonly #runs = new Map<string, Run>();
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      fetch: async (request) => {
        try {
          return await this.#answer(request);
        } catch (error) {
          return refusal(500, String(error));
        }
      },
    });
  }

  get url(): string {
    return this.#server.url.origin;
  }

  /** Ends the server and every run. */
  async close(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.close()));
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [noun = '', name = '', verb = '', act = ''] = pathname.slice(1).split('/').map(decodeURIComponent);
    const isPost = request.method === 'POST';

    if (noun === 'targets')
      return Response.json(
        makeTargets(Number(searchParams.get('seed') ?? 1), Number(searchParams.get('count') ?? 10_000)),
      );
    if (noun === 'scenarios' && name === '') {
      const needs = searchParams.get('needs');
      return Response.json(SCENARIOS.filter((each) => !each.needs || each.needs === needs).map(describe));
    }
    if (noun === 'scenarios' && verb === 'runs' && isPost) return await this.#start(name);

    const run = this.#runs.get(name);
    if (noun !== 'runs' || !run) return refusal(404, `there is no ${pathname}`);
    if (verb === 'acts' && isPost) return await perform(run, act);
    if (verb === 'verdict') {
      const problems = await run.judge();
      await run.close();
      this.#runs.delete(run.id);
      return Response.json(problems.length === 0 ? { ok: true } : { ok: false, problems });
    }
    return refusal(404, `there is no ${pathname}`);
  }

  async #start(name: string): Promise<Response> {
    const scenario = SCENARIOS.find((each) => each.name === name);
    if (!scenario) return refusal(404, `there is no scenario ${name}`);

    const run = new Run(crypto.randomUUID(), scenario);
    await scenario.prepare?.(run);
    await run.up();
    this.#runs.set(run.id, run);

    const { id, baseUrl, apiKey } = run;
    return Response.json({ id, baseUrl, apiKey, environment: ENVIRONMENT }, { status: 201 });
  }
}

/** Does an act of a run: 200 when it is done, 409 with the reason when what it waits for has not happened. */
async function perform(run: Run, name: string): Promise<Response> {
  const work = run.scenario.acts?.[name];
  if (!work) return refusal(404, `${run.scenario.name} has no act ${name}`);
  try {
    const late = Bun.sleep(ACT_MS).then(() => Promise.reject(new Error(`${name} took too long`)));
    await Promise.race([work(run), late]);
    return Response.json({});
  } catch (error) {
    return refusal(409, error instanceof Error ? error.message : String(error));
  }
}

/** A scenario as tests see it. */
function describe({ name, clause, sentence, steps }: Scenario) {
  return { name, clause, sentence, steps };
}

function refusal(status: number, reason: string): Response {
  return Response.json({ reason }, { status });
}
