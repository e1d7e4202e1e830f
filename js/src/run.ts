/** A model without a view: it only carries the questions of the views to the run, and its answers back. */
export default { initialize() {} };
