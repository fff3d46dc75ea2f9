def plot_convergence(): pass
