export { type AudioMeter, createAudioMeter } from './create-audio-meter.ts';
