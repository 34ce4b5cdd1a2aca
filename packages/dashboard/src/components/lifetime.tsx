import { useState } from 'react';
import { Badge } from './badges.tsx';
import { DateInput, Field, INPUT } from './field.tsx';
import { messages } from './messages.ts';
import { NativeSelect } from './select.tsx';
import { RecordCell } from './tables.tsx';
import { fullTime, TimeAgo, timeAgo, useTimeRefresh } from './time-ago.tsx';

/** How long before its expiry a key or token is marked: enough time to replace it. */
const SOON_MS = 14 * 86_400_000;

/** Whether a key or token still works. */
export type LifeStatus = 'active' | 'expired' | 'revoked';

/** The status of a key or token in a word, with the time if it expires soon. */
export function LifeBadge({ status, expiresAt }: { status: LifeStatus; expiresAt: string | undefined }) {
  useTimeRefresh();
  if (status !== 'active') return <Badge kind="over">{status}</Badge>;
  const left = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - Date.now();
  // The server sends no event when one expires while it is on the screen.
  if (left <= 0) return <Badge kind="over">expired</Badge>;
  if (left > SOON_MS) return <Badge kind="good">active</Badge>;
  return <Badge kind="warn">expires {timeAgo(Date.now() + left, Date.now())}</Badge>;
}

/** When a key or token expires, expired or was revoked. */
function LifeEnd({
  expiresAt,
  revokedAt,
}: {
  expiresAt?: string | undefined;
  revokedAt?: string | undefined;
}) {
  if (revokedAt !== undefined) {
    return (
      <>
        revoked <TimeAgo at={revokedAt} />
      </>
    );
  }
  return expiresAt === undefined ? <span className="text-ink-3">never</span> : <TimeAgo at={expiresAt} />;
}

/** When something happened to a record, or that it never did: a cell of its row. */
export function TimeCell({ label, at }: { label: string; at: string | undefined }) {
  return (
    <RecordCell label={label} className="lg:whitespace-nowrap">
      {at === undefined ? <span className="text-ink-3">never</span> : <TimeAgo at={at} />}
    </RecordCell>
  );
}

/** When a key or token was last used, was created, and expires: three cells of its row. */
export function LifeCells({
  record: { lastUsedAt, createdAt, expiresAt, revokedAt },
}: {
  record: {
    readonly lastUsedAt?: string;
    readonly createdAt: string;
    readonly expiresAt?: string;
    readonly revokedAt?: string;
  };
}) {
  return (
    <>
      <TimeCell label="Last used" at={lastUsedAt} />
      <TimeCell label="Created" at={createdAt} />
      <RecordCell label="Expires" className="lg:whitespace-nowrap">
        <LifeEnd expiresAt={expiresAt} revokedAt={revokedAt} />
      </RecordCell>
    </>
  );
}

const DAY_MS = 86_400_000;

/** The choices by value: days from now, `0` for never, `-1` for a date to pick. */
const CHOICES: readonly (readonly [days: string, label: string])[] = [
  ['0', messages.expiry.never],
  ['1', messages.expiry.day],
  ['3', messages.expiry.days(3)],
  ['7', messages.expiry.days(7)],
  ['30', messages.expiry.days(30)],
  ['90', messages.expiry.days(90)],
  ['365', messages.expiry.year],
  ['-1', messages.expiry.date],
];

/** When a key or token expires. */
export type Expiry =
  | { readonly kind: 'never' }
  | { readonly kind: 'at'; readonly at: Date }
  /** The date is missing or in the past. */
  | { readonly kind: 'unusable' };

/** An expiry in that many days; 0 for never. */
export function expiryIn(days: number): Expiry {
  return days === 0 ? { kind: 'never' } : { kind: 'at', at: new Date(Date.now() + days * DAY_MS) };
}

/** Asks when a key or token expires: never, unless `isRequired`, after some days, or at the end of a date. */
export function ExpiryField({
  label = messages.expiry.label,
  isRequired = false,
  hint,
  defaultDays = 0,
  isTried,
  onChange,
}: {
  label?: string;
  isRequired?: boolean;
  hint?: string;
  /** The choice at first, which the caller knows as {@link expiryIn}. */
  defaultDays?: number;
  /** The form was submitted: show what is missing. */
  isTried: boolean;
  onChange: (expiry: Expiry) => void;
}) {
  const [days, setDays] = useState(defaultDays);
  const [expiry, setExpiry] = useState(() => expiryIn(defaultDays));
  const [day, setDay] = useState('');

  function set(next: Expiry): void {
    setExpiry(next);
    onChange(next);
  }

  function choose(chosen: number): void {
    setDays(chosen);
    set(chosen === -1 ? endOfDay(day) : expiryIn(chosen));
  }

  const isUnusable = expiry.kind === 'unusable' && (isTried || day !== '');
  const note = expiry.kind === 'never' ? hint : expiry.kind === 'at' ? fullTime(expiry.at) : undefined;

  return (
    <Field label={label} hint={note} error={isUnusable ? messages.expiry.past : undefined}>
      {(control) => (
        <div className="flex flex-wrap gap-2">
          <NativeSelect
            {...control}
            className={`${INPUT} w-auto flex-1`}
            value={String(days)}
            onSelect={(value) => choose(Number(value))}
            choices={isRequired ? CHOICES.slice(1) : CHOICES}
          />
          {days === -1 && (
            <DateInput
              label={messages.expiry.dateLabel}
              className="flex-1"
              required
              min={localDay(new Date())}
              value={day}
              onChange={(next) => {
                setDay(next);
                set(endOfDay(next));
              }}
            />
          )}
        </div>
      )}
    </Field>
  );
}

/** The member of a request; nothing for never. */
export function expiryMember(expiry: Expiry): { readonly expiresAt?: string } {
  return expiry.kind === 'at' ? { expiresAt: expiry.at.toISOString() } : {};
}

/** The last moment of a day in local time. */
function endOfDay(day: string): Expiry {
  const at = new Date(`${day}T23:59:59`);
  return at.getTime() > Date.now() ? { kind: 'at', at } : { kind: 'unusable' };
}

function localDay(date: Date): string {
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${date.getFullYear()}-${month}-${day}`;
}
