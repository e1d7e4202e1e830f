/** A model without a view: it carries the shared state of linked views. */
export default { initialize() {} };
