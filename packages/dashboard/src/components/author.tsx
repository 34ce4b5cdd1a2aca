import { usePersonName } from '../api/operators.ts';
import { classNames } from './class-names.ts';

/** Who did something, by name; hovering tells the e-mail. `actor` is as in the audit log: `operator:<e-mail>`. */
export function Author({ actor, className }: { actor: string; className?: string }) {
  const { name, detail } = usePersonName()(actor);
  return (
    <span className={classNames('break-words', className)} title={detail ?? name}>
      {name}
    </span>
  );
}
