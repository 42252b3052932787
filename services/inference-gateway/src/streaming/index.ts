export type { LateResponse } from './client-writer.ts';
export { ClientWriter, type Edited } from './client-writer.ts';
export { createEventSplitter, DONE, type EventSplitter, EventTooLongError, eventData } from './events.ts';
export { type RelayOptions, relayEvents, type StreamEnd, type StreamLimits } from './relay-events.ts';
export type { LargeEvent, StreamEditor } from './stream-editor.ts';
