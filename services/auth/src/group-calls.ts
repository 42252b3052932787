import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@svc/service-kit';

/** Calls in one run at most. */
const GROUP_MAX = 64;
/** Calls that may wait: many runs of work. */
const WAITING_MAX = 2_048;

/** How calls are answered together. */
export interface GroupedCalls<Input, Output> {
  /** Answers every input, in their order; where it fails, all of them fail. */
  run: (inputs: readonly Input[]) => Promise<readonly Output[]>;
  /** Inputs of one key take turns: no run has two of them. */
  keyOf?: (input: Input) => string;
}

interface Call<Input, Output> {
  input: Input;
  resolve: (output: Output) => void;
  reject: (error: unknown) => void;
}

/**
 * Answers calls that come at one time by one run, as a round trip to the database costs more than what it asks: a lone call
 * runs at once, and those that come meanwhile share the next run. A run begins after its calls came, so that none is
 * answered from before it was asked. Throws `service_unavailable` where too many wait.
 */
export const groupCalls = <Input, Output>(
  options: GroupedCalls<Input, Output>,
): ((input: Input) => Promise<Output>) => {
  let waiting: Call<Input, Output>[] = [];
  let isBusy = false;
  const work = async (): Promise<void> => {
    // What the same turn of the event loop brings shares a run.
    for (await nextTurn(); waiting.length > 0; await nextTurn()) {
      const [group, others] = split(waiting, options.keyOf);
      waiting = others;
      await answer(group, options.run);
    }
    isBusy = false;
  };
  return (input) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= WAITING_MAX) {
        reject(new AppError('service_unavailable'));
        return;
      }
      waiting.push({ input, resolve, reject });
      if (isBusy) return;
      isBusy = true;
      void work();
    });
};

/** The calls of the next run, and those that wait on. */
const split = <Input, Output>(
  waiting: Call<Input, Output>[],
  keyOf: ((input: Input) => string) | undefined,
): [Call<Input, Output>[], Call<Input, Output>[]] => {
  if (keyOf === undefined) return [waiting.slice(0, GROUP_MAX), waiting.slice(GROUP_MAX)];
  const keys = new Set<string>();
  const group: Call<Input, Output>[] = [];
  const others: Call<Input, Output>[] = [];
  for (const call of waiting) {
    const key = keyOf(call.input);
    if (group.length < GROUP_MAX && !keys.has(key)) group.push(call);
    else others.push(call);
    // A call waits behind those of its key that came before it.
    keys.add(key);
  }
  return [group, others];
};

const answer = async <Input, Output>(
  group: readonly Call<Input, Output>[],
  run: GroupedCalls<Input, Output>['run'],
): Promise<void> => {
  try {
    const outputs = await run(group.map(({ input }) => input));
    if (outputs.length !== group.length) throw new Error('a run answered another number of calls than it was asked');
    for (const [index, output] of outputs.entries()) group[index]?.resolve(output);
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
};
