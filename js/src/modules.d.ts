declare module "*.css";

declare module "worker:*" {
  /** The worker's bundled text, to be started from a Blob. */
  const source: string;
  export default source;
}
