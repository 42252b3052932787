import type { OutgoingHttpHeaders } from 'node:http';
import type { ComplianceMetadata } from '@svc/contracts';
import type { Edited, StreamEditor } from '../../streaming/index.ts';
import {
  countChunk,
  createChunkPattern,
  emptyTally,
  isComplete,
  type StreamTally,
  type TokenUsage,
} from '../../wire/index.ts';
import { AMBIGUOUS, type Attribution, ambiguousFailure, type StreamProof } from '../attribution.ts';
import { complianceHeadersOf } from '../compliance.ts';
import { BROKEN_STREAM, type StreamError, toStreamError, UNATTRIBUTED_STREAM } from '../failure-response.ts';
import { OutputEvents, type WriteEvent } from './output-events.ts';
import { type ChunkReading, incompleteReason, readChatChunk } from './read-chat.ts';
import { type ResponseIdentity, type ResponseState, responseAround } from './response-object.ts';

/** Formatter of one stream's events. */
interface ResponseEvents {
  readonly write: WriteEvent;
  /** Formats an event with the whole response. `items` is a JSON array. */
  readonly writeResponse: (type: string, state: ResponseState, items: string) => string;
}

/** Creates a formatter that numbers the events. */
const createResponseEvents = (identity: ResponseIdentity): ResponseEvents => {
  let sequence = 0;
  const frame = (type: string, members: string): string => {
    const event = `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${members}}\n\n`;
    sequence += 1;
    return event;
  };
  return {
    write: (type, members) => frame(type, JSON.stringify(members).slice(1, -1)),
    writeResponse: (type, state, items) => {
      const [before, after] = responseAround(identity, state);
      const extensions = state.metadata && { compliance_metadata: state.metadata };
      const stamp = extensions === undefined ? '' : `,"extensions":${JSON.stringify(extensions)}`;
      return frame(type, `"response":${before}${items}${after}${stamp}`);
    },
  };
};

interface ResponseStreamOptions {
  readonly identity: ResponseIdentity;
  readonly attribution: Attribution;
  /** True if the response and its last event contain the compliance metadata. */
  readonly showsMetadata: boolean;
  /** Set if the caller asks for a proof of provenance. */
  readonly proof: StreamProof | undefined;
  /** Upper limit of plausible usage. */
  readonly tokensMax: number;
  /** Limit of the output that is kept for the last events of items. */
  readonly bytesMax: number;
  /** Returns the charged usage. */
  readonly usageOf: (tally: StreamTally) => TokenUsage;
  /** Reads a large event in a worker. */
  readonly readLarge: (data: Buffer) => Promise<ChunkReading>;
}

/** Editor of one stream, with its tally. */
interface ResponseStream extends StreamEditor {
  readonly tally: StreamTally;
  readonly metadata: () => ComplianceMetadata | undefined;
}

const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
const KEEP_ALIVE = ': keep-alive\n\n';

/** Creates an editor that turns a provider's chat stream into the events of the Responses format. */
export const createResponseStream = (options: ResponseStreamOptions): ResponseStream => {
  const { identity, attribution, proof, tokensMax } = options;
  const tally = emptyTally();
  const pattern = createChunkPattern();
  const events = createResponseEvents(identity);
  const output = new OutputEvents({
    write: events.write,
    tail: identity.tail,
    bytesMax: options.bytesMax,
    digest: proof?.digest,
  });
  let finishReason: string | undefined;
  let hasBegun = false;
  /** The event that opened the response, until it is passed on. */
  let opening: { readonly data: Buffer; readonly reading: ChunkReading } | undefined;

  const begin = (): string => {
    if (hasBegun) return '';
    hasBegun = true;
    const state = { status: 'in_progress', model: attribution.metadata()?.model ?? '', usage: undefined } as const;
    return ['response.created', 'response.in_progress'].map((type) => events.writeResponse(type, state, '[]')).join('');
  };
  const finish = (state: Omit<ResponseState, 'model' | 'metadata'>): string => {
    const proven = attribution.metadata();
    const metadata = options.showsMetadata ? proven : undefined;
    const whole = { ...state, model: proven?.model ?? '', metadata };
    return events.writeResponse(`response.${state.status}`, whole, output.json());
  };
  const failWith = (error: StreamError): string => {
    const { type: _type, ...shown } = error;
    // Common SDKs throw on the nested error, other clients on the flat one or on the failed response.
    const errorEvents = begin() + events.write('error', { ...shown, error });
    const { code, message } = error;
    return errorEvents + finish({ status: 'failed', usage: undefined, error: { code, message } });
  };
  const open = (data: Buffer, reading: ChunkReading): OutgoingHttpHeaders | undefined => {
    if (reading === 'ambiguous') throw AMBIGUOUS;
    const metadata = reading && attribution.open(reading.digest);
    if (metadata === undefined) return undefined;
    opening = { data, reading };
    return { ...HEADERS, ...complianceHeadersOf(metadata) };
  };
  const show = (reading: ChunkReading): Edited => {
    if (reading === undefined) return KEEP_ALIVE;
    if (reading === 'ambiguous') throw ambiguousFailure();
    countChunk(tally, reading.digest);
    attribution.check(reading.digest);
    finishReason ??= reading.delta.finishReason;
    return begin() + output.take(reading.delta);
  };

  return {
    tally,
    metadata: attribution.metadata,
    late: {
      headers: () => {
        const metadata = attribution.openLate();
        return metadata && { ...HEADERS, ...complianceHeadersOf(metadata) };
      },
      fail: (error) => failWith(toStreamError(error)),
    },
    open: (data) => open(data, readChatChunk(data, { tokensMax })),
    edit: (_block, data): Edited => {
      if (data === undefined) return KEEP_ALIVE;
      const text = pattern.textOf(data);
      if (text !== undefined) {
        tally.outputBytes += text.length;
        return begin() + output.text(text.toString());
      }
      // No pattern is learnt from the first chunk: it seldom matches the others, and learning would delay the first byte.
      const first = opening?.data === data ? opening.reading : undefined;
      opening = undefined;
      return show(first ?? readChatChunk(data, { tokensMax }, (chunk) => void pattern.learn(data, chunk)));
    },
    readLarge: async (data) => {
      const reading = await options.readLarge(data);
      return { open: () => open(data, reading), edit: () => show(reading) };
    },
    isWhole: () => tally.isFinished,
    isWholeDespite: (failure) => failure.reason !== 'failed' && !attribution.isAmbiguous(failure) && isComplete(tally),
    close: () => {
      const reason = incompleteReason(finishReason);
      const status = reason === undefined ? 'completed' : 'incomplete';
      const ending = begin() + output.end(status);
      const usage = options.usageOf(tally);
      return ending + finish({ status, usage, incompleteReason: reason, ...signed(proof, attribution) });
    },
    fail: (failure) => failWith(attribution.isAmbiguous(failure) ? UNATTRIBUTED_STREAM : BROKEN_STREAM),
  };
};

const signed = (proof: StreamProof | undefined, attribution: Attribution): Pick<ResponseState, 'provenance'> => {
  const metadata = attribution.metadata();
  return { provenance: metadata && proof?.sign(metadata) };
};
