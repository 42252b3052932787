import { AUDIO_FILE_BYTES_MAX, costOfAudio, type routes } from '@svc/contracts';
import { AppError, HANDLED, type Reply, type RequestContext, STATUS_CALLER_GONE } from '@svc/service-kit';
import { sendJsonText, toCallerError } from '../../forwarding/index.ts';
import { collectResponse, type HeldText } from '../../large-json/index.ts';
import type { AudioRoute } from '../../provider-routes/index.ts';
import { recordedRequestId } from '../../providers/index.ts';
import { toDispatchedFailure, UpstreamFailure } from '../../upstream-failure.ts';
import { type RequestBook, releasedEnd, servedBy } from '../../usage-records/index.ts';
import { type AdmittedRequest, admitDelegated } from '../admit-delegated.ts';
import type { DelegatedDeps } from '../delegated-deps.ts';
import { type AudioMeter, createAudioMeter } from './audio/create-audio-meter.ts';
import { type FileSink, readTranscriptionForm, type TranscriptionTexts } from './read-transcription-form.ts';
import type { RewrittenTranscription } from './rewrite-transcription.ts';
import { type OrderedUpload, uploadInOrder } from './upload-in-order.ts';

/** 128 kbit/s, typical of MP3. Speech often has a lower bit rate and then lasts longer than this estimate. */
const BYTES_PER_SECOND = 16_000;
/** 6 kbit/s, the lowest bit rate of speech codecs. */
const BYTES_PER_SECOND_MIN = 750;

type Context = RequestContext<typeof routes.createDelegatedTranscription>;

/** An upload in progress. */
interface Transcription {
  readonly book: RequestBook;
  readonly upload: OrderedUpload;
  /** Measures the length of the file, for providers that do not report it. */
  readonly meter: AudioMeter;
  bytes: number;
}

/**
 * Serves a transcription on behalf of a user. The file is sent to the provider while it arrives. The form is closed only
 * after all of it is validated: a provider without the whole form serves nothing, so earlier failures cost nothing.
 */
export const createTranscription = async (deps: DelegatedDeps, context: Context): Promise<Reply> => {
  const [preferred, ...others] = deps.routes().delegatedTranscription(deps.clock());
  if (preferred === undefined) throw new AppError('subscription_transcription_not_configured');
  let running: Transcription | undefined;
  const abandon = (): void => running?.upload.abort();
  context.signal.addEventListener('abort', abandon);
  try {
    const sink: FileSink = {
      open: async (headers, before) => {
        const { book } = await admit(deps, context, [preferred, ...others]);
        const form = { headers, fields: before, log: context.log, keepSpan: book.keepSpan };
        const upload = uploadInOrder(deps, [preferred, ...others], { form, onFailed: book.noteAttempt });
        running = { book, upload, meter: createAudioMeter(), bytes: 0 };
      },
      write: async (bytes) => {
        if (running === undefined) throw new Error('the file was written before it was opened');
        running.bytes += bytes.length;
        await running.meter.push(bytes);
        // The upload takes ownership of the bytes.
        await running.upload.write(bytes);
      },
    };
    const idleTimeoutMs = deps.streamLimits.clientIdleTimeoutMs;
    const fields = await readTranscriptionForm(context.req, sink, { idleTimeoutMs });
    if (running === undefined) throw new Error('a form without a file was accepted');
    await finishUpload(deps, context, { running, fields });
    return HANDLED;
  } catch (thrown) {
    running?.upload.abort();
    // Discards the rest of the form, so that the response reaches a caller that is still sending.
    context.req.resume();
    // A provider without the whole form serves nothing. With it, a failure of our own has an uncertain outcome too.
    const isDispatched = running?.upload.isComplete() === true;
    const failure = isDispatched ? toDispatchedFailure(thrown) : thrown;
    const error = failure instanceof UpstreamFailure ? toCallerError('delegated', failure) : failure;
    const isUncertain = isDispatched && failure instanceof UpstreamFailure && failure.isUncertain;
    // The caller has disconnected, and nothing has failed.
    const hasLeft = context.signal.aborted && !isDispatched;
    const status = error instanceof AppError ? error.status : 500;
    await running?.book.finishFailed({ isUncertain, status: hasLeft ? STATUS_CALLER_GONE : status });
    if (hasLeft) return HANDLED;
    throw error;
  } finally {
    context.signal.removeEventListener('abort', abandon);
  }
};

type Candidates = readonly [AudioRoute, ...AudioRoute[]];

const admit = (deps: DelegatedDeps, context: Context, candidates: Candidates): Promise<AdmittedRequest> => {
  const announced = Number(context.req.headers['content-length'] ?? AUDIO_FILE_BYTES_MAX);
  const bytes = Math.min(announced, AUDIO_FILE_BYTES_MAX);
  const prices = candidates.map(({ price }) => price.micros_per_second);
  return admitDelegated(deps, {
    requestId: context.requestId,
    caller: context.caller,
    service: 'audio_transcription',
    isStreamed: false,
    estimateMicros: costOfAudio(candidates[0].price.micros_per_second, estimateAudioMs(bytes)),
    holdMicros: costOfAudio(Math.max(...prices), boundReportedMs(bytes)),
    idempotencyKey: context.headers['idempotency-key'],
  });
};

const finishUpload = async (
  deps: DelegatedDeps,
  context: Context,
  { running, fields }: { readonly running: Transcription; readonly fields: TranscriptionTexts },
): Promise<void> => {
  // Providers have different default formats.
  const { response, route } = await running.upload.finish(new Map([['response_format', 'json'], ...fields]));
  running.book.noteAttempt(route);
  const settle = async (reportedMs: number | undefined, status: number): Promise<void> => {
    const { milliseconds, isEstimated } = billedLength(deps, context, { running, route, reportedMs });
    await running.book.finish({
      ...releasedEnd(status, deps.clock()),
      servedBy: servedBy(route),
      upstreamRequestId: recordedRequestId({ provider: route.provider, headers: response.headers }, undefined),
      audioMs: milliseconds,
      isEstimated,
      outcome: 'settled',
      costMicros: costOfAudio(route.price.micros_per_second, milliseconds),
    });
  };
  const account = running.book.identity.userId;
  const text = await collectResponse(response, { memory: deps.responseMemory, account }).catch(
    async (error: unknown) => {
      // The provider has served the file, but its response cannot be passed on.
      if (error instanceof UpstreamFailure && error.reason === 'too_complex') await settle(undefined, 502);
      throw error;
    },
  );
  const { body, audioMs } = await rewrite(deps, text);
  await settle(audioMs, 200);
  await sendJsonText(context.res, body, { idleTimeoutMs: deps.streamLimits.clientIdleTimeoutMs });
};

interface Measured {
  readonly running: Transcription;
  readonly route: AudioRoute;
  /** Length that the provider reports. */
  readonly reportedMs: number | undefined;
}

/**
 * Returns the length to charge: the longer of the provider's and that of the frames. If the frames of a format cannot be
 * counted and the provider reports nothing, it is the maximum for a file of this size.
 */
const billedLength = (
  { meters }: DelegatedDeps,
  { log }: Context,
  { running, route, reportedMs }: Measured,
): { readonly milliseconds: number; readonly isEstimated: boolean } => {
  const { bytes, meter } = running;
  const measured = meter.measure();
  const frames = typeof measured === 'object' ? measured.milliseconds : 0;
  const isImplausible = reportedMs !== undefined && reportedMs > Math.max(boundReportedMs(bytes), frames);
  if (isImplausible) {
    meters.implausibleUsage.inc({ route: route.id });
    log.error({ upstream_route: route.id }, 'the provider reported an implausible usage');
  }
  const known = Math.max(frames, isImplausible ? 0 : (reportedMs ?? 0));
  if (known > 0) return { milliseconds: known, isEstimated: false };
  return { milliseconds: measured === 'uncounted' ? boundAudioMs(bytes) : estimateAudioMs(bytes), isEstimated: true };
};

const rewrite = async (deps: DelegatedDeps, text: HeldText): Promise<RewrittenTranscription> => {
  try {
    return await deps.json.run.rewriteTranscription(text, undefined);
  } finally {
    text.room.release();
  }
};

/** Returns the maximum length of a recording of this size. */
const boundAudioMs = (bytes: number): number => Math.ceil((bytes * 1000) / BYTES_PER_SECOND_MIN);

/** Returns the maximum that a provider may report for a recording of this size: many count begun seconds. */
const boundReportedMs = (bytes: number): number => Math.ceil(boundAudioMs(bytes) / 1000) * 1000;

/** Estimates the length of a recording from its size. */
const estimateAudioMs = (bytes: number): number => Math.ceil((bytes * 1000) / BYTES_PER_SECOND);
