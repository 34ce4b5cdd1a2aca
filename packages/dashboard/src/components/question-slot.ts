/** The one place on the screen for questions about changes. */
export interface QuestionSlot<Question> {
  /**
   * Shows the question of `pose` and resolves with its answer. When another question replaces it, it resolves with
   * `no`.
   */
  readonly ask: <Answer>(no: Answer, pose: Pose<Question, Answer>) => Promise<Answer>;
}

/** Creates a question; each has its own `id`. */
type Pose<Question, Answer> = (answer: (answer: Answer) => void, id: number) => Question;

/** Creates the place; `show` gets the question to show, or `undefined`. */
export function createQuestionSlot<Question>(
  show: (question: Question | undefined) => void,
): QuestionSlot<Question> {
  let lastId = 0;
  let giveWay: (() => void) | undefined;

  return {
    ask: async <Answer>(no: Answer, pose: Pose<Question, Answer>) => {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      giveWay?.();
      const giveMineWay = () => resolve(no);
      giveWay = giveMineWay;
      show(pose(resolve, ++lastId));
      const answer = await promise;
      // Otherwise another question has replaced it.
      if (giveWay === giveMineWay) {
        giveWay = undefined;
        show(undefined);
      }
      return answer;
    },
  };
}
