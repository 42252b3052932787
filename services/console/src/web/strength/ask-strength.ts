import { trustedUrl } from '../trusted-url.ts';
import type { StrengthAnswer, StrengthQuestion } from './strength-worker.ts';
import workerPath from './strength-worker.ts?worker&url';

/** Rates passwords in a worker. */
export interface StrengthWorker {
  /** Rates a password. A newer question replaces a waiting one, so at most two are kept. */
  readonly ask: (question: Omit<StrengthQuestion, 'id'>) => void;
  readonly stop: () => void;
}

/** Starts the worker, which loads the dictionaries. Calls `onAnswer` only for the newest question. */
export const startStrengthWorker = (onAnswer: (answer: StrengthAnswer) => void): StrengthWorker => {
  const worker = new Worker(trustedUrl(workerPath), { type: 'module' });
  let newest = 0;
  let isBusy = false;
  let waiting: StrengthQuestion | undefined;
  const send = (question: StrengthQuestion): void => {
    isBusy = true;
    worker.postMessage(question);
  };
  worker.addEventListener('message', ({ data }: MessageEvent<StrengthAnswer>) => {
    isBusy = false;
    if (data.id === newest) onAnswer(data);
    if (waiting !== undefined) send(waiting);
    waiting = undefined;
  });
  return {
    ask: (asked) => {
      newest += 1;
      const question = { ...asked, id: newest };
      if (isBusy) waiting = question;
      else send(question);
    },
    stop: () => worker.terminate(),
  };
};
