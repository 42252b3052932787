export type { LateAnswer } from './client-writer.ts';
export { ClientWriter, type Edited } from './client-writer.ts';
export { DONE, eventData } from './event-data.ts';
export { createEventSplitter, type EventSplitter, EventTooLongError } from './event-splitter.ts';
export { createOpenStreams, type OpenStreams } from './open-streams.ts';
export { type RelayOptions, relayEvents, type StreamEnd, type StreamLimits } from './relay-events.ts';
export type { LargeEvent, StreamEditor } from './stream-editor.ts';
