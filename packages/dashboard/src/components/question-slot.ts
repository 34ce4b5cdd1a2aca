/** The one place on the screen where questions about changes stand. */
export interface QuestionSlot<Question> {
  /**
   * Shows what `pose` makes and resolves with the answer that it is given. When another question comes meanwhile,
   * nobody can answer this one any more: it resolves with `no`.
   */
  readonly ask: <Answer>(pose: Pose<Question, Answer>, no: Answer) => Promise<Answer>;
}

/** Makes a question; `id` is another for each. */
type Pose<Question, Answer> = (answer: (answer: Answer) => void, id: number) => Question;

/** Makes the place; `show` is told what stands there, `undefined` for nothing. */
export function createQuestionSlot<Question>(
  show: (question: Question | undefined) => void,
): QuestionSlot<Question> {
  let lastId = 0;
  let giveWay: (() => void) | undefined;
  return {
    ask: async <Answer>(pose: Pose<Question, Answer>, no: Answer) => {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      giveWay?.();
      const giveMineWay = () => resolve(no);
      giveWay = giveMineWay;
      show(pose(resolve, ++lastId));
      const answer = await promise;
      // Otherwise another question stands there.
      if (giveWay === giveMineWay) {
        giveWay = undefined;
        show(undefined);
      }
      return answer;
    },
  };
}
