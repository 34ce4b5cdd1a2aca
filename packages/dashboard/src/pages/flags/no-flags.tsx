import Flag from 'lucide-react/icons/flag';
import Plus from 'lucide-react/icons/plus';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { EmptyState } from '../../components/empty-state.tsx';

/** A project without flags: what a flag is, and the two ways to make one. */
export function NoFlags({ project, onCreate }: { project: string; onCreate: (() => void) | undefined }) {
  return (
    <div className="relative overflow-y-auto">
      <EmptyState
        icon={<Flag size={20} aria-hidden />}
        title="No flags yet"
        action={
          onCreate && (
            <Button kind="primary" onClick={onCreate}>
              <Plus size={15} aria-hidden /> Create the first flag
            </Button>
          )
        }
      >
        A flag switches a part of your software on or off while it runs. It has a state in each environment,
        and every change reaches your programs within milliseconds.
      </EmptyState>
      <div className="mx-auto -mt-6 max-w-xl px-4 pb-10">
        <p className="mb-1.5 text-xs text-ink-3">Or from a terminal:</p>
        <CodeBlock
          label="The command that makes a flag"
          code={`halyard flag set new-checkout --project ${project} --env development --on`}
        />
      </div>
    </div>
  );
}
