import { CopyButton } from './copy-button.tsx';
import { ScrollRegion } from './scroll-region.tsx';

/** Text to copy into a terminal or an editor; long lines wrap. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="relative rounded-md border border-line bg-bg text-left">
      <ScrollRegion label={label} className="overflow-x-auto">
        <pre className="p-3 pr-10 font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap">
          {code}
        </pre>
      </ScrollRegion>
      <CopyButton text={code} label={`Copy: ${label}`} className="absolute top-1.5 right-1.5" />
    </div>
  );
}
