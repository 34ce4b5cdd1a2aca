import { Fragment } from 'react';
import { Link } from 'wouter';
import { links } from '../browser/links.ts';
import { ACTION_TEXTS } from './audit/action-text.ts';
import { messages } from './messages.ts';

/** A change and what it was about. Of some changes only the number is known. */
export interface ChangedPlaces {
  readonly seq: number;
  readonly changed?: readonly {
    readonly action: string;
    readonly target: string;
    readonly environment?: string;
  }[];
}

/** How many flags of a change are named. The others are only mentioned. */
const NAMED = 2;

const KEY = 'font-mono text-xs wrap-anywhere';

const LINK = 'text-accent hover:underline';

/**
 * The flags of a change with links, or what else it did. Without a project, as in the audit log, the flags are plain text and
 * the link shows the change.
 */
export function ChangedPlaces({
  project,
  change: { seq, changed = [] },
}: {
  project: string | undefined;
  change: ChangedPlaces;
}) {
  const ofFlags = changed.filter(({ action }) => /^(flag|rollout)\./.test(action));
  const keys = [...new Set(ofFlags.map(({ target }) => target))];
  const [environment, ...others] = new Set(ofFlags.flatMap((place) => place.environment ?? []));
  const place =
    environment === undefined || others.length > 0 ? '' : `?env=${encodeURIComponent(environment)}`;

  if (keys.length === 0) {
    return (
      <Link href={links.change(project, seq)} className={LINK}>
        {wordsOf(changed[0]) ?? messages.changeNumber(seq)}
      </Link>
    );
  }

  return (
    <span className="min-w-0">
      {keys.slice(0, NAMED).map((key, index) => (
        <Fragment key={key}>
          {index > 0 && ', '}
          {project === undefined ? (
            <span className={KEY}>{key}</span>
          ) : (
            <Link href={links.flag(project, key) + place} className={`${KEY} ${LINK}`}>
              {key}
            </Link>
          )}
        </Fragment>
      ))}

      {(keys.length > NAMED || project === undefined) && (
        <>
          {' '}
          <Link href={links.change(project, seq)} className={LINK}>
            {keys.length > NAMED ? messages.andMoreFlags : messages.changeNumber(seq)}
          </Link>
        </>
      )}
    </span>
  );
}

/** The targets of these actions are IDs, which say nothing to people. */
const HAS_ID = /^(key|token|relay|schedule|proposal)\./;

function wordsOf(
  place: { readonly action: string; readonly target: string } | undefined,
): string | undefined {
  const verb = ACTION_TEXTS[place?.action ?? ''];
  if (place === undefined || verb === undefined) return undefined;
  const words = HAS_ID.test(place.action) ? verb.replace(/ (of|for)$/, '') : `${verb} ${place.target}`;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
