export { createJournalMeters, type JournalMeters } from './journal-meters.ts';
export { type Journal, openJournal } from './open-journal.ts';
export type { JournalEntry } from './open-segment.ts';
export { type TakeOverOptions, takeOverJournals } from './take-over-journals.ts';
