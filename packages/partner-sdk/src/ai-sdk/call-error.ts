import { paths, SvcError } from '../inference/index.ts';

/** Marks by which every version of the AI SDK recognizes its own errors. */
const MARKS = ['vercel.ai.error', 'vercel.ai.error.AI_APICallError'].map((name) => [Symbol.for(name), true] as const);

/** Marks an `SvcError` as an error of a call, so that the AI SDK repeats it if `isRetryable` says so. */
export const asCallError = (error: unknown): unknown => {
  if (!(error instanceof SvcError)) return error;
  const { status, retryAfterSeconds } = error;
  const responseHeaders = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return Object.assign(error, Object.fromEntries(MARKS), { url: paths.chat, statusCode: status, responseHeaders });
};
