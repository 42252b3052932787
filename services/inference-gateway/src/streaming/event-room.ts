import { type TextOwner, TextRoom } from '../large-json/index.ts';

export interface EventRoomOptions {
  readonly owner: TextOwner;
  readonly eventBytesMax: number;
  /** Called if the event arrives so slowly that it loses its memory to others. */
  readonly onTooSlow: () => void;
}

/** Memory room of the event that is arriving, if it is not small. */
export class EventRoom {
  readonly #options: EventRoomOptions;
  #room: TextRoom | undefined;

  constructor(options: EventRoomOptions) {
    this.#options = options;
  }

  /** Makes room for the first `bytes` bytes of an event. Returns undefined if there is room, else resolves when there is. */
  growTo(bytes: number, bytesReceived: number): Promise<void> | undefined {
    if (bytes === 0) this.release();
    if (bytes < TextRoom.uncountedBytes) return undefined;
    this.#room ??= this.#open();
    this.#room.advance(bytesReceived);
    return this.#room.growTo(bytes);
  }

  /** Stops watching the pace: the event is complete. */
  endTransit(bytes: number): void {
    this.#room?.endTransit(bytes);
  }

  release(): void {
    this.#room?.release();
    this.#room = undefined;
  }

  #open(): TextRoom {
    const { owner, eventBytesMax, onTooSlow } = this.#options;
    const room = new TextRoom({ ...owner, announcedBytes: undefined, bytesMax: eventBytesMax });
    room.startTransit(onTooSlow);
    return room;
  }
}
