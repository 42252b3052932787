import type { WriteEvent } from './output-events.ts';
import { type ResponseIdentity, type ResponseState, responseAround } from './response-object.ts';

/** Formatter of one stream's events. */
export interface ResponseEvents {
  readonly write: WriteEvent;
  /** Formats an event with the whole response. `items` is a JSON array. */
  readonly writeResponse: (type: string, state: ResponseState, items: string) => string;
}

/** Creates a formatter that numbers the events. */
export const createResponseEvents = (identity: ResponseIdentity): ResponseEvents => {
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
