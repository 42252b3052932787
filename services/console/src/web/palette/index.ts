export type { Command } from './find-commands.ts';
export { Palette } from './palette.tsx';
