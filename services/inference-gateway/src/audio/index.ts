export { type AudioLength, type AudioMeter, createAudioMeter } from './create-audio-meter.ts';
