import { memo } from 'react';
import { Checkbox } from '../../components/checkbox.tsx';
import { classNames } from '../../components/class-names.ts';
import { FlagName } from './flag-name.tsx';
import { messages } from './messages.ts';
import { StateCell } from './state-cell.tsx';
import { type DrawnColumns, EDGE, isGap, STAYS } from './table-columns.ts';
import { type FlagItemProps, rowMarks } from './windowed-rows.ts';

/** One flag with its states. Drawn again only when its own record or the drawn columns change. */
export const FlagRow = memo(function FlagRow(props: FlagItemProps & { drawn: DrawnColumns }) {
  const { project, flag, index, heightPx, isSelected, isMarked, onToggle, drawn } = props;
  // Compact rows have one.
  const hasTwoLines = heightPx > 44;

  return (
    <tr
      className={classNames(
        'group cursor-pointer',
        isSelected ? 'bg-accent-soft' : 'bg-surface hover:bg-hover',
        isMarked && 'animate-flash',
      )}
      style={{ height: heightPx }}
      aria-rowindex={index + 2}
      {...rowMarks(props)}
    >
      {onToggle && (
        <td className={`${STAYS} left-0 cursor-default border-b border-line pl-3`} data-control>
          <Checkbox
            label={messages.list.select(flag.key)}
            isChecked={isSelected}
            onChange={(isRange) => onToggle(flag.key, isRange)}
          />
        </td>
      )}

      <th
        scope="row"
        className={classNames(
          STAYS,
          'max-w-0 border-b border-line px-3 font-normal',
          onToggle ? 'left-11' : 'left-0',
          drawn.isKeyLast && EDGE,
        )}
      >
        <FlagName {...props} hasDescription={hasTwoLines} />
      </th>

      {drawn.slots.map((slot) =>
        isGap(slot) ? (
          <td key={slot.key} aria-hidden className="border-b border-line" />
        ) : (
          <td
            key={slot.key}
            aria-colindex={slot.ariaIndex}
            className={classNames(
              'max-w-0 border-b border-line px-3',
              slot.leftPx !== undefined && STAYS,
              slot.isLast && EDGE,
            )}
            style={{ left: slot.leftPx }}
            data-column={slot.index}
          >
            <StateCell
              project={project}
              environment={slot.environment}
              flagKey={flag.key}
              record={flag.environments[slot.key]}
              isArchived={flag.archivedAt !== undefined}
              hasTwoLines={hasTwoLines}
            />
          </td>
        ),
      )}

      {drawn.extra.map(({ name, align, Cell }, index) => (
        <td
          key={name}
          aria-colindex={drawn.extraAriaIndex + index}
          className={classNames('max-w-0 border-b border-line px-3', align === 'right' && 'text-right')}
        >
          <Cell flag={flag} />
        </td>
      ))}
    </tr>
  );
});
