import { Button } from '../../components/button.tsx';

/** What stands where a flag has no state in an environment. */
export function MissingState({
  environment,
  canAdd,
  onAdd,
}: {
  environment: string;
  canAdd: boolean;
  onAdd: () => void;
}) {
  return (
    <div className="px-4 pb-4">
      <p className="max-w-xl text-ink-2">
        This flag is not in {environment}: clients there do not get it, and code falls back to its defaults.
      </p>
      {canAdd && (
        <Button className="mt-2" onClick={onAdd}>
          Add it to {environment}, off
        </Button>
      )}
    </div>
  );
}
