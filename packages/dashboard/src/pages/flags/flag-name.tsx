import { Link } from 'wouter';
import type { FlagRecord } from '../../api/types.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { links } from '../../shell/links.ts';

/** As many tags are shown beside a key. */
const MOST_TAGS = 3;

/** A flag's key, which leads to its page, with what it is for. */
export function FlagName({
  project,
  flag,
  hasDescription,
}: {
  project: string;
  flag: FlagRecord;
  hasDescription: boolean;
}) {
  const { key, description, tags } = flag;
  return (
    <div className="min-w-0">
      <div className="flex min-w-0 items-center gap-1">
        <Link
          href={links.flag(project, key)}
          className="inline-flex min-h-6 min-w-0 items-center font-mono text-xs font-medium hover:text-accent hover:underline"
          title={key}
        >
          <span className="truncate">{key}</span>
        </Link>
        {tags.slice(0, MOST_TAGS).map((tag) => (
          <span
            key={tag}
            className="max-w-24 shrink-0 truncate rounded border border-line px-1 text-2xs text-ink-2"
          >
            {tag}
          </span>
        ))}
        {tags.length > MOST_TAGS && (
          <span className="text-2xs text-ink-3" title={tags.slice(MOST_TAGS).join(', ')}>
            +{tags.length - MOST_TAGS}
          </span>
        )}
        <CopyButton
          text={key}
          label={`Copy the key ${key}`}
          className="size-6 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 [@media(hover:none)]:opacity-100"
        />
      </div>
      {hasDescription && description !== '' && (
        <p className="truncate text-xs font-normal text-ink-3" title={description}>
          {description}
        </p>
      )}
    </div>
  );
}
