import { type TextOwner, TextRoom } from '../large-json/index.ts';

export interface EventRoomOptions {
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
