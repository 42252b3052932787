/** Hands in one item and waits for its result. */
export type Batched<I, O> = (item: I) => Promise<O>;

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Gathers what arrives while a batch is under way into the next one, so that many concurrent writers share one statement and
 * a lone one waits for nobody. `flush` answers one result per item, in order; its failure is everybody's in the batch.
 */
export const createBatcher = <I, O>(
  flush: (items: readonly I[]) => Promise<readonly O[]>,
  { itemsMax }: { itemsMax: number },
): Batched<I, O> => {
  const waiting: Waiting<I, O>[] = [];
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    // Let all that were woken by the same event arrive first.
    await Promise.resolve();
    while (waiting.length > 0) await settle(waiting.splice(0, itemsMax), flush);
    isRunning = false;
  };
  return (item) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isRunning) void run();
    });
};

const settle = async <I, O>(
  batch: readonly Waiting<I, O>[],
  flush: (items: readonly I[]) => Promise<readonly O[]>,
): Promise<void> => {
  try {
    const results = await flush(batch.map(({ item }) => item));
    if (results.length !== batch.length) throw new Error('a batch must answer one result per item');
    for (const [index, result] of results.entries()) batch[index]?.resolve(result);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
};
