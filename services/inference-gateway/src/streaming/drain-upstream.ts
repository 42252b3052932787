import type { UpstreamAnswer } from '../providers/index.ts';

/** Time for a provider to end its answer after `[DONE]`, so that its connection can be reused. */
const AFTER_DONE_MS = 1_000;

/** Discards the rest of an answer. Aborts it if it does not end soon. */
export const drainUpstream = (answer: Pick<UpstreamAnswer, 'read' | 'resume' | 'abort'>): void => {
  answer.resume();
  const timer = setTimeout(answer.abort, AFTER_DONE_MS);
  answer.read({
    onData: () => {},
    onEnd: () => clearTimeout(timer),
    onFailure: () => clearTimeout(timer),
  });
};
