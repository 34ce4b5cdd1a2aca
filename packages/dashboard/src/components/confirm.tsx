import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { TextField } from './field.tsx';
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

interface Open {
  readonly id: number;
  readonly question: Question;
  readonly answer: (yes: boolean) => void;
}

type Ask = (question: Question) => Promise<boolean>;

const ConfirmContext = createContext<Ask>(async () => false);

/** Asks a person; resolves with whether they confirmed. */
export function useConfirm(): Ask {
  return useContext(ConfirmContext);
}

/** Shows the questions of what is inside. */
export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<Open>();
  const [slot] = useState(() => createQuestionSlot<Open>(setOpen));
  const ask = useCallback<Ask>(
    (question) => slot.ask<boolean>((answer, id) => ({ id, question, answer }), false),
    [slot],
  );
  return (
    <ConfirmContext value={ask}>
      {children}
      {open && <ConfirmDialog key={open.id} question={open.question} onAnswer={open.answer} />}
    </ConfirmContext>
  );
}

function ConfirmDialog({ question, onAnswer }: { question: Question; onAnswer: (yes: boolean) => void }) {
  const [typed, setTyped] = useState('');
  const isReady = question.typed === undefined || typed === question.typed;
  return (
    <Dialog title={question.title} onClose={() => onAnswer(false)} isQuestion>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onAnswer(true);
        }}
      >
        <div className="text-ink-2">{question.body}</div>
        {question.typed !== undefined && (
          <div className="mt-4">
            <TextField
              label={`Type ${question.typed} to confirm`}
              data-autofocus
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={setTyped}
            />
          </div>
        )}
        <DialogActions>
          <Button onClick={() => onAnswer(false)}>Cancel</Button>
          <Button
            type="submit"
            kind={question.isDangerous ? 'danger' : 'primary'}
            disabled={!isReady}
            {...(question.typed === undefined ? { 'data-autofocus': true } : {})}
          >
            {question.action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
