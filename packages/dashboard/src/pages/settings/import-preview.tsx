import type { FlagState, ImportPlan } from '../../api/types.ts';
import { FieldDiff } from '../../components/audit/field-diff.tsx';
import { StateDiff } from '../../components/audit/state-diff.tsx';
import { Badge, type BadgeKind } from '../../components/badges.tsx';
import { EnvironmentName } from '../../components/environment-name.tsx';
import { FormError } from '../../components/field.tsx';
import { FoldedList } from '../../components/folded-list.tsx';
import { messages } from './import-messages.ts';
import { type ChangedThing, type Difference, onlyInProject, thingsOf } from './import-plan.ts';

/** How many of the things that are removed are named. */
const FEW_NAMES = 12;

/** Codes of changes that can still be made: as a proposal, or with a reason. */
const SOLVABLE = new Set(['approval_required', 'reason_required']);

/** The changes that the person may not make in any way. */
export function refusalsOf({ notAllowed = [] }: ImportPlan): NonNullable<ImportPlan['notAllowed']> {
  return notAllowed.filter(({ code }) => !SOLVABLE.has(code));
}

/** Lists what an import would change, as the server compared it. */
export function ImportPreview({ plan }: { plan: ImportPlan }) {
  const things = thingsOf(plan);
  const only = onlyInProject(plan);
  const refusals = refusalsOf(plan);

  return (
    <>
      {refusals.length > 0 && (
        <FormError>
          <p>{messages.refused}</p>
          <ul className="ml-4 list-disc">
            {refusals.map(({ what, why }) => (
              <li key={`${what} ${why}`} className="break-words">
                {what}: {why}
              </li>
            ))}
          </ul>
        </FormError>
      )}
      <Removals things={things.filter(({ isRemoval }) => isRemoval)} />

      {things.length > 0 && (
        <FoldedList label={messages.whatChanges} items={things}>
          {(thing) => <Thing key={`${thing.noun} ${thing.name}`} thing={thing} />}
        </FoldedList>
      )}

      {plan.kept > 0 && <p className="text-ink-2">{messages.kept(plan.kept)}</p>}
      {only.length > 0 && <p className="text-ink-2">{messages.only(only)}</p>}
    </>
  );
}

/** Names what would be removed, above the list. */
function Removals({ things }: { things: readonly ChangedThing[] }) {
  if (things.length === 0) return null;
  const names = things.slice(0, FEW_NAMES).map(({ name }) => name);
  return (
    <div role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
      <p className="font-medium">{messages.removals(things.length)}</p>
      <p className="font-mono text-xs break-words">
        {names.join(', ')}
        {things.length > FEW_NAMES && ` ${messages.andMore(things.length - FEW_NAMES)}`}
      </p>
    </div>
  );
}

function Thing({ thing: { noun, name, verbs, differences } }: { thing: ChangedThing }) {
  return (
    <li className="px-3 py-2">
      <p className="flex flex-wrap items-center gap-x-1.5 gap-y-1">
        {noun !== 'flag' && <span className="text-ink-2 first-letter:uppercase">{noun}</span>}
        <span className="font-mono text-xs wrap-anywhere">{name}</span>
        {verbs.map((verb) => (
          <Badge key={verb} kind={kindOf(verb)}>
            {verb}
          </Badge>
        ))}
      </p>
      {differences.map((difference, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a comparison never changes
        <div key={index} className="mt-1.5">
          <DifferenceText {...difference} />
        </div>
      ))}
    </li>
  );
}

/** A state in its environment, or the fields of the thing itself. */
function DifferenceText({ environment, before, after }: Difference) {
  if (environment === undefined) return <FieldDiff before={before} after={after} />;
  return (
    <div className="gap-x-3 sm:grid sm:grid-cols-[9rem_minmax(0,1fr)]">
      <p className="min-w-0">
        <EnvironmentName name={environment} />
      </p>
      <div className="min-w-0">
        {/* The server compares states there. */}
        <StateDiff before={before as FlagState | undefined} after={after as FlagState | undefined} />
      </div>
    </div>
  );
}

function kindOf(verb: string): BadgeKind {
  if (verb === 'created' || verb === 'added' || verb === 'restored') return 'good';
  return verb === 'updated' || verb === 'changed' ? 'plain' : 'danger';
}
