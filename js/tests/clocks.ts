declare const process: { readonly env: Readonly<Record<string, string | undefined>> };

/** Whether tests may read a clock: `make test-all` says so. */
export const CLOCKS = Boolean(process.env.TVMDBG_CLOCKS);
