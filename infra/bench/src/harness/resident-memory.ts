import { readFileSync } from 'node:fs';

const SAMPLE_MS = 20;

/** Returns the resident memory of a process (Linux only). */
export const residentMegabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000);

/** Watches the resident memory of a process; `stop` returns the peak. */
export const watchPeak = (pid: number): { readonly stop: () => number } => {
  let peak = residentMegabytes(pid);
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMegabytes(pid));
  }, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return Math.max(peak, residentMegabytes(pid));
    },
  };
};
