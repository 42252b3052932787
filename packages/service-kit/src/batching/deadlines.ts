/** An open call and the time at which it was made. */
interface OpenCall {
  readonly askedAtMs: number;
}

export interface DeadlineOptions<C extends OpenCall> {
  /** Time from a call to its deadline. Infinity watches nothing. */
  readonly deadlineMs: number;
  /** Returns the calls that have no result yet. */
  readonly open: () => readonly C[];
  readonly onOverdue: (calls: readonly C[]) => void;
}

/** Share of the deadline between two looks, which bounds its excess. One timer serves all calls. */
const LOOKS_PER_DEADLINE = 10;

/**
 * Returns the function to call after each call is made. Looks for overdue calls as long as any are open, so that a call
 * costs no timer and leaves nothing behind once it has a result.
 */
export const watchDeadlines = <C extends OpenCall>({ deadlineMs, open, onOverdue }: DeadlineOptions<C>) => {
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    timer = undefined;
    const madeBeforeMs = performance.now() - deadlineMs;
    const calls = open();
    const overdue = calls.filter(({ askedAtMs }) => askedAtMs <= madeBeforeMs);
    if (overdue.length > 0) onOverdue(overdue);
    if (calls.length > overdue.length) start();
  };
  const start = (): void => {
    if (timer !== undefined || !Number.isFinite(deadlineMs)) return;
    timer = setTimeout(look, deadlineMs / LOOKS_PER_DEADLINE);
    timer.unref();
  };
  return start;
};
