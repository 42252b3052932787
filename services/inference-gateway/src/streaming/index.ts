export { DONE, eventData } from './event-data.ts';
export { createEventSplitter, type EventSplitter, EventTooLongError } from './event-splitter.ts';
