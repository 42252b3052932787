import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { isolate: false, testTimeout: 600_000, hookTimeout: 120_000 } });
