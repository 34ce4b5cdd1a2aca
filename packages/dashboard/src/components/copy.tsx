import Check from 'lucide-react/icons/check';
import Copy from 'lucide-react/icons/copy';
import { type ComponentProps, type ReactNode, useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import { announce } from './live-region.tsx';
import { messages } from './messages.ts';
import { ScrollRegion } from './tables.tsx';

/** Copies `text`. `label` is the accessible name, such as "Copy key new-checkout". */
export function CopyButton({ text, label, className }: { text: string; label: string; className?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  async function copy(): Promise<void> {
    setCopied(await copyText(text));
  }
  return (
    <IconButton
      icon={isCopied ? Check : Copy}
      iconClassName={isCopied ? 'text-good' : undefined}
      label={label}
      className={className}
      onClick={() => void copy()}
    />
  );
}

/** Copies `text` to the clipboard and announces it; resolves with whether it worked. */
export async function copyText(text: string): Promise<boolean> {
  const isDone = await (
    navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
  ).then(
    () => true,
    // Browsers block the clipboard on pages without https.
    () => copyBySelection(text),
  );
  announce(isDone ? messages.copied : messages.copyBlocked);
  return isDone;
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'fixed -left-full';
  const host = document.querySelector('dialog[open]') ?? document.body;
  host.append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  // Removing the field would lose the focus.
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}

/** Text to copy into a terminal or an editor; long lines wrap. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="relative rounded-md border border-line bg-bg text-left">
      <ScrollRegion label={label} className="overflow-x-auto">
        <pre className="p-3 pr-10 font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap">
          {unbroken(code)}
        </pre>
      </ScrollRegion>
      <CopyButton text={code} label={`Copy: ${label}`} className="absolute top-1.5 right-1.5" />
    </div>
  );
}

/** Words with hyphens, such as the options of commands, break only where they are longer than a line. */
function unbroken(code: string): ReactNode {
  return code.split(/([^\s-]*-\S+)/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the words of a text do not move
      <span key={index} className="inline-block max-w-full">
        {part}
      </span>
    ),
  );
}

/** A {@link CodeBlock} below its title. */
export function CodeSection({ title, ...block }: ComponentProps<typeof CodeBlock> & { title: string }) {
  return (
    <section className="min-w-0">
      <h3 className="mb-1 font-medium">{title}</h3>
      <CodeBlock {...block} />
    </section>
  );
}
