import { UpstreamFailure } from '../upstream-failure.ts';

/** Tool calls of one choice that have begun. Plain data, as a worker may continue it. */
interface ChoiceCalls {
  readonly begun: Set<number>;
  readonly byId: Map<string, number>;
  last: number;
  next: number;
}

/** Tool calls of a stream so far, by choice. */
export type CallIndexes = Map<number, ChoiceCalls>;

/** The members of a call's piece that tell which call it belongs to. */
export interface CallPiece {
  readonly index: unknown;
  /** Undefined if it is empty. */
  readonly id: string | undefined;
  readonly name: string | undefined;
}

export interface PlacedCall {
  readonly index: number;
  /** True for the first piece of a call. */
  readonly isNew: boolean;
}

/** Limit of choices, and of calls in one choice. No model makes this many. */
const COUNT_MAX = 1_024;

/**
 * Returns the index of a call's piece: the provider's, else that of its id, else that of the previous piece. A new id or a
 * name begins the next call. Throws UpstreamFailure, `unusable`, beyond the limit of calls.
 */
export const placeCall = (indexes: CallIndexes, choice: number, piece: CallPiece): PlacedCall => {
  const calls = indexes.get(choice) ?? { begun: new Set(), byId: new Map(), last: 0, next: 0 };
  indexes.set(choice, calls);
  const index = indexOf(calls, piece);
  if (index >= COUNT_MAX || indexes.size > COUNT_MAX) throw new UpstreamFailure('unusable');
  const isNew = !calls.begun.has(index);
  calls.begun.add(index);
  if (piece.id !== undefined) calls.byId.set(piece.id, index);
  calls.last = index;
  calls.next = Math.max(calls.next, index + 1);
  return { index, isNew };
};

const indexOf = (calls: ChoiceCalls, { index, id, name }: CallPiece): number => {
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0) return index;
  if (id !== undefined) return calls.byId.get(id) ?? calls.next;
  return name === undefined ? calls.last : calls.next;
};
