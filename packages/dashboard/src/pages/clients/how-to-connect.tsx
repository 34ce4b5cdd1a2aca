import Plug from 'lucide-react/icons/plug';
import { Link } from 'wouter';
import { useEnvironments } from '../../api/projects.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import { links } from '../../shell/links.ts';
import { snippetOf } from '../flag/snippets.ts';

/** Teaches how to connect the first client. The key is a secret that the dashboard cannot show again. */
export function HowToConnect({ project }: { project: string }) {
  const environment = useEnvironments(project)[0]?.name ?? 'development';
  const origin = useEvaluationUrl();
  const curl = `curl -N '${origin}/v1/stream?env=${encodeURIComponent(environment)}' \\\n  -H 'X-Service-Key: proj_live_…'`;
  const script = snippetOf('JavaScript', {
    ...{ baseUrl: origin, environment, key: 'new-checkout' },
    value: undefined,
  });
  return (
    <section
      className="mt-6 rounded-lg border border-line bg-surface p-4 sm:p-6"
      aria-labelledby="how-to-connect"
    >
      <h2 id="how-to-connect" className="flex items-center gap-2 text-lg font-semibold">
        <Plug size={18} className="text-accent" aria-hidden /> Connect your first client
      </h2>
      <p className="mt-1 mb-4 max-w-2xl text-ink-2">
        Take a key from the{' '}
        <Link href={links.keys(project)} className="text-accent underline">
          keys screen
        </Link>{' '}
        and run one of these. This screen says so the moment it connects.
      </p>
      <div className="grid gap-4 lg:grid-cols-2">
        <div className="min-w-0">
          <h3 className="mb-1 font-medium">In a terminal</h3>
          <CodeBlock label="Command that opens a stream" code={curl} />
        </div>
        <div className="min-w-0">
          <h3 className="mb-1 font-medium">In a program</h3>
          <CodeBlock label="Program that reads a flag" code={script} />
        </div>
      </div>
    </section>
  );
}
