import { type TextOwner, TextRoom } from '../large-json/index.ts';
import type { UpstreamResponse } from '../providers/index.ts';

/** Reasons to pause a provider, as bits. */
export const PAUSE = { slowClient: 1, largeEvent: 2, memory: 4 } as const;
type PauseReason = (typeof PAUSE)[keyof typeof PAUSE];

/** Pauses a provider's response while at least one reason applies. */
export class UpstreamFlow {
  readonly #response: Pick<UpstreamResponse, 'pause' | 'resume'>;
  #reasons = 0;

  constructor(response: Pick<UpstreamResponse, 'pause' | 'resume'>) {
    this.#response = response;
  }

  pause(reason: PauseReason): void {
    this.#reasons |= reason;
    this.#response.pause();
  }

  /** Resumes the response if no other reason applies. */
  resume(reason: PauseReason): void {
    this.#reasons &= ~reason;
    if (this.#reasons === 0) this.#response.resume();
  }
}

/** Time for a provider to end its response after `[DONE]`, so that its connection can be reused. */
const AFTER_DONE_MS = 1_000;

/** Discards the rest of a response. Aborts it if it does not end soon. */
export const drainUpstream = (response: Pick<UpstreamResponse, 'read' | 'resume' | 'abort'>): void => {
  response.resume();
  const timer = setTimeout(response.abort, AFTER_DONE_MS);
  response.read({
    onData: () => {},
    onEnd: () => clearTimeout(timer),
    onFailure: () => clearTimeout(timer),
  });
};

interface EventRoomOptions {
  readonly owner: TextOwner;
  readonly eventBytesMax: number;
}

/** Memory room of the event that is arriving, if it is not small. */
export class EventRoom {
  readonly #options: EventRoomOptions;
  #room: TextRoom | undefined;

  constructor(options: EventRoomOptions) {
    this.#options = options;
  }

  /** Makes room for the first `bytes` bytes of an event. Returns undefined if there is room, else resolves when there is. */
  growTo(bytes: number): Promise<void> | undefined {
    if (bytes === 0) this.release();
    if (bytes < TextRoom.uncountedBytes) return undefined;
    const { owner, eventBytesMax } = this.#options;
    this.#room ??= new TextRoom({ ...owner, announcedBytes: undefined, bytesMax: eventBytesMax });
    return this.#room.growTo(bytes);
  }

  /** Returns the memory beyond the length of the event, which is complete. */
  endTransit(bytes: number): void {
    this.#room?.endTransit(bytes);
  }

  release(): void {
    this.#room?.release();
    this.#room = undefined;
  }
}
