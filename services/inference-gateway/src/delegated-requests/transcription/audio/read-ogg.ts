import type { ByteQueue, Step } from './byte-queue.ts';
import {
  type FrameCount,
  OPUS_SAMPLES_PER_SECOND,
  opusSamples,
  readVorbisHeader,
  type VorbisHeader,
} from './codec-packets.ts';
import { flacRate, readFlacFrame } from './read-flac.ts';

const LETTER_O = 0x4f;
const PAGE_HEAD_BYTES = 27;
const CONTINUED = 1;
const BEGINS = 2;
/** Enough for the identification header of every codec. */
const PACKET_HEAD_BYTES = 80;
const STREAMS_MAX = 64;
const FLAC_INFO_AT = 17;
/** By mode: narrow, wide, ultra-wide band. */
const SPEEX_SAMPLES = [160, 320, 640];

/** One logical stream. */
interface Stream {
  /** Counts a packet by its first bytes. */
  readonly take: (packet: Buffer) => void;
  /** Notes the position that a page claims, in samples. */
  readonly claim: (samples: number) => void;
  readonly end: () => void;
}

/**
 * Counts the packets of an Ogg (RFC 3533) with Opus, Vorbis, FLAC or Speex, over all of its streams. The position that a page
 * claims counts only for Vorbis, and only within what its packets can hold.
 */
export function* readOgg(queue: ByteQueue, frames: FrameCount): Step {
  const streams = new Map<number, Stream>();
  try {
    for (;;) {
      yield* queue.find(LETTER_O);
      const head = Buffer.from(yield* queue.peek(PAGE_HEAD_BYTES));
      if (head.toString('latin1', 0, 4) !== 'OggS' || head.length < PAGE_HEAD_BYTES) {
        queue.skip(1);
        continue;
      }
      queue.skip(PAGE_HEAD_BYTES);
      yield* readPage(queue, { head, streams, frames });
    }
  } finally {
    for (const stream of streams.values()) stream.end();
  }
}

interface Page {
  readonly head: Buffer;
  readonly streams: Map<number, Stream>;
  readonly frames: FrameCount;
}

function* readPage(queue: ByteQueue, { head, streams, frames }: Page): Step {
  const flags = head[5] ?? 0;
  const serial = head.readUInt32LE(14);
  const lengths = packetLengths(yield* queue.read(head[26] ?? 0));
  for (const [place, length] of lengths.entries()) {
    const kept = Math.min(length, PACKET_HEAD_BYTES);
    const packet = yield* queue.read(kept);
    const isContinued = place === 0 && (flags & CONTINUED) !== 0;
    const isFirst = place === 0 && (flags & BEGINS) !== 0;
    if (isFirst) {
      streams.get(serial)?.end();
      if (streams.size < STREAMS_MAX) streams.set(serial, openStream(Buffer.from(packet), frames));
      else frames.giveUp();
    } else if (!isContinued) streams.get(serial)?.take(packet);
    queue.skip(length - kept);
  }
  streams.get(serial)?.claim(Number(head.readBigInt64LE(6)));
}

/** Returns the lengths of the packets in a page. The last one may continue on the next page. */
const packetLengths = (segments: Buffer): number[] => {
  const lengths: number[] = [];
  let length = 0;
  for (const segment of segments) {
    length += segment;
    if (segment === 255) continue;
    lengths.push(length);
    length = 0;
  }
  return segments.at(-1) === 255 ? [...lengths, length] : lengths;
};

const NOTHING: Stream = { take: () => {}, claim: () => {}, end: () => {} };

const openStream = (first: Buffer, frames: FrameCount): Stream => {
  const text = first.toString('latin1');
  if (text.startsWith('OpusHead'))
    return counted((packet) => {
      if (!packet.subarray(0, 8).equals(OPUS_TAGS)) frames.add(opusSamples(packet), OPUS_SAMPLES_PER_SECOND);
    });
  if (text.startsWith('\u007fFLAC') && first.length > FLAC_INFO_AT + 13) {
    const rate = flacRate(first.subarray(FLAC_INFO_AT));
    return counted((packet) => {
      const frame = readFlacFrame(packet);
      if (frame !== undefined) frames.add(frame.samples, frame.rate || rate);
    });
  }
  if (text.startsWith('Speex   ') && first.length >= 68) return speex(first, frames);
  const vorbis = readVorbisHeader(first);
  if (vorbis !== undefined) return countVorbis(vorbis, frames);
  // Video and metadata have no sound. An unknown codec may.
  if (!/^(\u0080theora|fishead|BBCD|\u0080kate)/.test(text)) frames.giveUp();
  return NOTHING;
};

const OPUS_TAGS = Buffer.from('OpusTags');

const counted = (take: Stream['take']): Stream => ({ ...NOTHING, take });

const speex = (header: Buffer, frames: FrameCount): Stream => {
  const rate = header.readUInt32LE(36);
  const samples = (SPEEX_SAMPLES[header.readUInt32LE(40)] ?? 0) * Math.max(1, header.readUInt32LE(64));
  let packets = 0;
  return counted(() => {
    packets += 1;
    // The second packet of a stream is its comment.
    if (packets > 1) frames.add(samples, samples === 0 ? 0 : rate);
  });
};

/**
 * Counts Vorbis packets at their maximum, since short blocks are known only to a decoder. A claimed position is believed
 * down to half of that.
 */
const countVorbis = ({ rate, packetSamplesMax }: VorbisHeader, frames: FrameCount): Stream => {
  let packets = 0;
  let claimed = 0;
  return {
    take: ([first = 0]) => {
      // The packets of headers have odd types.
      if (first % 2 === 0) packets += 1;
    },
    claim: (samples) => {
      claimed = Math.max(claimed, samples);
    },
    end: () => {
      const most = packets * packetSamplesMax;
      if (most > 0) frames.add(claimed >= most / 2 && claimed <= most ? claimed : most, rate);
      packets = 0;
    },
  };
};
