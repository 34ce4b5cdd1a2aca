/** A checkbox without a visible label, as in a table; a square of 26 pixels takes the click. */
export function Checkbox({
  label,
  isChecked,
  onChange,
}: {
  label: string;
  isChecked: boolean | 'mixed';
  /** `isRange`: with Shift. */
  onChange: (isRange: boolean) => void;
}) {
  return (
    <span className="inline-flex size-6 shrink-0 items-center justify-center align-middle">
      <input
        ref={(element) => {
          if (element !== null) element.indeterminate = isChecked === 'mixed';
        }}
        type="checkbox"
        aria-label={label}
        checked={isChecked === true}
        // Only the native event of a click knows the modifier keys.
        onChange={({ nativeEvent }) => onChange('shiftKey' in nativeEvent && nativeEvent.shiftKey === true)}
      />
    </span>
  );
}
