import { createContext, type ReactNode, useCallback, useContext, useLayoutEffect, useState } from 'react';
import { guardScreen } from '../browser/leave-guard.ts';
import { TextField } from './field.tsx';
import { FormDialog, useForm } from './form.tsx';
import { messages } from './messages.ts';
import { createQuestionSlot } from './question-slot.ts';

/** A question to confirm. */
export interface Question {
  readonly title: string;
  readonly body: ReactNode;
  /** The label of the button that confirms, as "Archive". */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Must be typed to confirm. */
  readonly typed?: string;
}

type Ask = (question: Question) => Promise<boolean>;

const ConfirmContext = createContext<Ask>(async () => false);

/** Asks a person; resolves with whether they confirmed. */
export function useConfirm(): Ask {
  return useContext(ConfirmContext);
}

/** While `isDirty`, asks before leaving the screen by a link, by "back" or by closing the tab. `what` names the loss. */
export function useLeaveGuard(isDirty: boolean, what: string): void {
  const confirm = useConfirm();
  // Not a passive effect: a screen that unmounts because the session ended must not ask.
  useLayoutEffect(() => {
    if (!isDirty) return;
    const { title, action } = messages.leave;
    return guardScreen(() => confirm({ title, body: what, action, isDangerous: true }));
  }, [isDirty, what, confirm]);
}

/** Shows the questions of what is inside. */
export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<ReactNode>();
  const [slot] = useState(() => createQuestionSlot<ReactNode>(setOpen));
  const ask = useCallback<Ask>(
    (question) =>
      slot.ask(false, (answer, id) => <ConfirmDialog key={id} question={question} onAnswer={answer} />),
    [slot],
  );
  return (
    <ConfirmContext value={ask}>
      {children}
      {open}
    </ConfirmContext>
  );
}

function ConfirmDialog({ question, onAnswer }: { question: Question; onAnswer: (yes: boolean) => void }) {
  const [typed, setTyped] = useState('');
  const form = useForm({
    problems: {
      typed:
        question.typed === undefined || typed === question.typed
          ? undefined
          : messages.typeExactly(question.typed),
    },
    submit: () => onAnswer(true),
  });

  return (
    <FormDialog
      title={question.title}
      form={form}
      action={question.action}
      kind={question.isDangerous ? 'danger' : 'primary'}
      focused={focusedIn(question)}
      isQuestion
      onClose={() => onAnswer(false)}
    >
      <div className="text-ink-2" data-description>
        {question.body}
      </div>
      {question.typed !== undefined && (
        <TextField
          label={messages.typeToConfirm(question.typed)}
          error={form.problem('typed')}
          data-autofocus
          spellCheck={false}
          value={typed}
          onChange={setTyped}
        />
      )}
    </FormDialog>
  );
}

/** Pressing the key that opened the question once more must not delete anything. */
function focusedIn({ typed, isDangerous = false }: Question): 'action' | 'cancel' | undefined {
  if (typed !== undefined) return undefined;
  return isDangerous ? 'cancel' : 'action';
}
